import { scriptedTarget } from './scripted-target.ts'

export const DESEC = scriptedTarget('desec')
