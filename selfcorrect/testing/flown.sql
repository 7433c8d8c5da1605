-- Flights of a route up to a week from a day, with the price in euros, the nearest first.
SELECT flight, origin, destination, date(:day, step || ' days') AS date, 60 + hash % 400 AS price
FROM steps, routes
JOIN places AS starts ON starts.airport = origin
JOIN places AS ends ON ends.airport = destination
WHERE (starts.code, ends.code) = (:origin, :destination)
  AND (is_daily OR hash % 4 > 0 AND hash >> (8 + (strftime('%w', :day, step || ' days') + 6) % 7) & 1)
ORDER BY abs(step), step DESC, origin, destination
