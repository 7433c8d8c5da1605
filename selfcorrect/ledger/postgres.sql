-- The tables of a ledger in PostgreSQL; {{columns}} are those of `sql.py`.
create table selfcorrect_format (version int primary key);
insert into selfcorrect_format values ({format});
create table selfcorrect_holders (holder text primary key, until timestamptz not null);
create table selfcorrect_calls ({columns}, place bigserial);
create index selfcorrect_calls_by_doubt on selfcorrect_calls (doubt);
create index selfcorrect_calls_by_theme on selfcorrect_calls (theme);
