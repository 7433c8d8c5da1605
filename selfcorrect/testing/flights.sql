PRAGMA foreign_keys = ON;
CREATE TABLE IF NOT EXISTS airports (
    iata TEXT PRIMARY KEY CHECK (length(iata) = 3),
    city TEXT NOT NULL
);
-- Codes that stand for every airport of a city.
CREATE TABLE IF NOT EXISTS metros (
    code TEXT PRIMARY KEY CHECK (length(code) = 3),
    city TEXT NOT NULL
);
CREATE VIEW IF NOT EXISTS places AS
    SELECT iata AS code, iata AS airport, city FROM airports
    UNION ALL
    SELECT code, iata, city FROM metros JOIN airports USING (city);
-- The timetable: whether a route is flown on a day, and all about it, follows from its airports.
CREATE VIEW IF NOT EXISTS routes AS
    SELECT a.iata AS origin, b.iata AS destination,
        'SC' || (1000 + crc32(a.iata || '>' || b.iata) % 9000) AS flight,
        -- The same for the way back.
        crc32(min(a.iata, b.iata) || '-' || max(a.iata, b.iata)) AS hash,
        min(a.iata, b.iata) || max(a.iata, b.iata) IN ('CDGLHR', 'JFKLAX') AS is_daily
    FROM airports AS a JOIN airports AS b ON a.city <> b.city;
-- A week before and behind a day.
CREATE TABLE IF NOT EXISTS steps (step INTEGER PRIMARY KEY);
INSERT OR IGNORE INTO steps VALUES
    (-7), (-6), (-5), (-4), (-3), (-2), (-1), (0), (1), (2), (3), (4), (5), (6), (7);
-- What a seat costs is so many times the price of a route.
CREATE TABLE IF NOT EXISTS cabins (
    cabin TEXT PRIMARY KEY, seats INTEGER NOT NULL, fare INTEGER NOT NULL);
INSERT OR IGNORE INTO cabins VALUES ('economy', 60, 1), ('business', 12, 3), ('first', 4, 6);
CREATE TABLE IF NOT EXISTS bookings (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    departure_date TEXT NOT NULL,
    return_date    TEXT,
    passengers     INTEGER NOT NULL,
    cabin          TEXT NOT NULL,
    cancelled      INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT known_cabin CHECK (cabin IN ('economy', 'business', 'first')),
    CONSTRAINT one_to_nine_passengers CHECK (
        typeof(passengers) = 'integer' AND passengers BETWEEN 1 AND 9),
    CONSTRAINT return_after_departure CHECK (return_date >= departure_date)
);
CREATE TABLE IF NOT EXISTS legs (
    origin      TEXT NOT NULL REFERENCES airports (iata),
    destination TEXT NOT NULL REFERENCES airports (iata),
    day         TEXT NOT NULL,
    cabin       TEXT NOT NULL,
    seats       INTEGER NOT NULL,
    booking     INTEGER NOT NULL REFERENCES bookings (id)
);
CREATE TABLE IF NOT EXISTS sold (
    origin      TEXT NOT NULL,
    destination TEXT NOT NULL,
    day         TEXT NOT NULL,
    cabin       TEXT NOT NULL,
    seats       INTEGER NOT NULL,
    PRIMARY KEY (origin, destination, day, cabin),
    CONSTRAINT cabin_has_seats CHECK (
        seats <= CASE cabin WHEN 'economy' THEN 60 WHEN 'business' THEN 12 ELSE 4 END)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS sell AFTER INSERT ON legs BEGIN
    INSERT INTO sold VALUES (new.origin, new.destination, new.day, new.cabin, new.seats)
    ON CONFLICT DO UPDATE SET seats = seats + excluded.seats;
END;
CREATE TRIGGER IF NOT EXISTS give_back AFTER DELETE ON legs BEGIN
    UPDATE sold SET seats = seats - old.seats WHERE (origin, destination, day, cabin)
        = (old.origin, old.destination, old.day, old.cabin);
END;
INSERT OR IGNORE INTO airports (iata, city) VALUES
    ('JFK', 'New York'), ('EWR', 'New York'), ('LGA', 'New York'),
    ('LHR', 'London'), ('LGW', 'London'), ('LCY', 'London'), ('LTN', 'London'),
    ('CDG', 'Paris'), ('ORY', 'Paris'), ('HND', 'Tokyo'), ('NRT', 'Tokyo'),
    ('ORD', 'Chicago'), ('MDW', 'Chicago'), ('IAD', 'Washington'), ('DCA', 'Washington'),
    ('FCO', 'Rome'), ('CIA', 'Rome'), ('MXP', 'Milan'), ('LIN', 'Milan'),
    ('ATL', 'Atlanta'), ('LAX', 'Los Angeles'), ('SFO', 'San Francisco'), ('SEA', 'Seattle'),
    ('DEN', 'Denver'), ('BOS', 'Boston'), ('MIA', 'Miami'), ('YYZ', 'Toronto'),
    ('GRU', 'São Paulo'), ('AMS', 'Amsterdam'), ('FRA', 'Frankfurt'), ('MUC', 'Munich'),
    ('BER', 'Berlin'), ('MAD', 'Madrid'), ('BCN', 'Barcelona'), ('LIS', 'Lisbon'),
    ('ZRH', 'Zurich'), ('VIE', 'Vienna'), ('CPH', 'Copenhagen'), ('DUB', 'Dublin'),
    ('IST', 'Istanbul'), ('DXB', 'Dubai'), ('DEL', 'Delhi'), ('SIN', 'Singapore'),
    ('SYD', 'Sydney');
INSERT OR IGNORE INTO metros (code, city) VALUES
    ('NYC', 'New York'), ('LON', 'London'), ('PAR', 'Paris'), ('TYO', 'Tokyo'),
    ('CHI', 'Chicago'), ('WAS', 'Washington'), ('ROM', 'Rome'), ('MIL', 'Milan');
