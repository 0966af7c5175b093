import { scriptedTarget } from './scripted-target.ts'

export const SCALEWAY = scriptedTarget('scaleway', { rejoinsTexts: true })
