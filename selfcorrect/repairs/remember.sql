begin immediate;
create table if not exists moves (
  tool text, schema text, origin text, target text, maker text,
  primary key (tool, schema, origin)
);
pragma application_id = {mark};
commit;
