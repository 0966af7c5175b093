import { scriptedTarget } from './scripted-target.ts'

export const DIGITALOCEAN = scriptedTarget('digitalocean', { rejoinsTexts: true })
