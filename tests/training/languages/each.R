# Runs blocks in R: reads [{system, setup, run, cases}] as JSON, prints a line of JSON for each case.
suppressMessages(library(jsonlite))
blocks <- fromJSON(file("stdin"), simplifyVector = FALSE)
say <- function(...) cat(toJSON(list(...), auto_unbox = TRUE, null = "null"), "\n", sep = "")
for (block in blocks) {
  scope <- new.env(parent = globalenv())
  failed <- tryCatch({ suppressWarnings(suppressMessages(eval(parse(text = block$setup), scope))); NULL }, error = conditionMessage)
  if (!is.null(failed)) { say(system = block$system, failed = failed); next }
  for (i in seq_along(block$cases)) {
    scope$a <- block$cases[[i]]
    said <- tryCatch({
      setTimeLimit(elapsed = 15); invisible(suppressWarnings(capture.output(eval(parse(text = block$run), scope)))); NULL
    }, error = function(e) paste0("Error", if (!is.null(conditionCall(e))) paste0(" in ", deparse(conditionCall(e))[1]), ": ", conditionMessage(e)))
    say(system = block$system, case = i - 1L, text = said)
  }
}
