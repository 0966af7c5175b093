import { scriptedTarget } from './scripted-target.ts'

export const GOOGLE = scriptedTarget('google', { options: { pageSize: 100 } })
