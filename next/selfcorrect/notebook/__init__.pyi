from selfcorrect.notebook.stepper import Stepper as Stepper
