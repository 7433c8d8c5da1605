CREATE TABLE airports (
    iata    TEXT PRIMARY KEY CHECK (length(iata) = 3),
    name    TEXT NOT NULL,
    city    TEXT NOT NULL,
    country TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE metros (
    code    TEXT NOT NULL CHECK (length(code) = 3),
    city    TEXT NOT NULL,
    airport TEXT NOT NULL REFERENCES airports (iata),
    PRIMARY KEY (code, airport)
) WITHOUT ROWID;
CREATE TABLE bookings (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    origin         TEXT NOT NULL REFERENCES airports (iata),
    destination    TEXT NOT NULL REFERENCES airports (iata),
    departure_date TEXT NOT NULL,
    return_date    TEXT,
    passengers     INTEGER NOT NULL,
    cabin          TEXT NOT NULL,
    booked_on      TEXT NOT NULL,
    cancelled_on   TEXT,
    CONSTRAINT two_places CHECK (origin <> destination),
    CONSTRAINT known_cabin CHECK (cabin IN ('economy', 'business', 'first')),
    CONSTRAINT one_to_nine_passengers CHECK (
        typeof(passengers) = 'integer' AND passengers BETWEEN 1 AND 9),
    CONSTRAINT not_in_the_past CHECK (departure_date >= booked_on),
    CONSTRAINT return_after_departure CHECK (return_date >= departure_date)
);
CREATE TABLE seats (
    origin      TEXT NOT NULL REFERENCES airports (iata),
    destination TEXT NOT NULL REFERENCES airports (iata),
    day         TEXT NOT NULL,
    cabin       TEXT NOT NULL,
    number      INTEGER NOT NULL,
    booking     INTEGER NOT NULL REFERENCES bookings (id),
    PRIMARY KEY (origin, destination, day, cabin, number),
    CONSTRAINT cabin_has_seats CHECK (
        number BETWEEN 1 AND CASE cabin WHEN 'economy' THEN 60 WHEN 'business' THEN 12 ELSE 4 END)
) WITHOUT ROWID;
CREATE INDEX seats_of_booking ON seats (booking);
