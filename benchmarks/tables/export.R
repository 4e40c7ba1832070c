# Writes the tables that ship with R's packages ggplot2 and modeldata as CSV: numeric columns and ordered factors as
# codes from 0, the target last. usage: Rscript export.R FOLDER
folder <- commandArgs(TRUE)[1]

export <- function(table, name, target) {
  table <- as.data.frame(table)
  for (column in names(table)) {
    if (is.ordered(table[[column]])) table[[column]] <- as.integer(table[[column]]) - 1L
  }
  inputs <- setdiff(names(table)[sapply(table, is.numeric)], target)
  file <- file.path(folder, paste0(name, ".csv"))
  write.csv(table[c(inputs, target)], file, row.names = FALSE, quote = FALSE)
}

data(concrete, ames, Sacramento, package = "modeldata")
export(ggplot2::diamonds, "diamonds", "price")
export(concrete, "concrete", "compressive_strength")
export(ames, "ames", "Sale_Price")
export(Sacramento, "sacramento", "price")
