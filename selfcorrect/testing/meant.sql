-- The place of a code, and the airports that a text names, by their code or by their city.
SELECT code FROM places
WHERE code = ? OR code = airport AND ? IN (casefold(airport), casefold(city))
