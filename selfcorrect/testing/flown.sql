-- Flights of a route up to a week from a day, the nearest first, with the price in euros and the
-- free seats of each cabin.
SELECT json_object(
    'flight', flight, 'origin', origin, 'destination', destination, 'date', flown,
    'price', (SELECT json_group_object(cabin, (60 + hash % 400) * fare) FROM cabins),
    'seats', (
        SELECT json_group_object(cabins.cabin, cabins.seats - coalesce(sold.seats, 0))
        FROM cabins LEFT JOIN sold ON (sold.origin, sold.destination, day, sold.cabin)
            = (f.origin, f.destination, flown, cabins.cabin)))
FROM (
    SELECT *, date(:day, step || ' days') AS flown
    FROM steps, routes
    JOIN places AS starts ON starts.airport = origin
    JOIN places AS ends ON ends.airport = destination
    WHERE (starts.code, ends.code) = (:origin, :destination)
) AS f
WHERE is_daily OR hash % 4 > 0 AND hash >> (8 + (strftime('%w', flown) + 6) % 7) & 1
ORDER BY abs(step), step DESC, origin, destination
