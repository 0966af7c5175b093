import { AZURE } from './azure-target.ts'
import { faultTests } from './fault-suite.ts'

faultTests(AZURE)
