import { faultTests } from './fault-suite.ts'
import { LEXICON_DIGITALOCEAN } from './scripted-target.ts'

faultTests(LEXICON_DIGITALOCEAN)
