import { scriptedTarget } from './scripted-target.ts'

export const ROUTE53 = scriptedTarget('route53')
