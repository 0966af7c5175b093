import { scriptedTarget } from './scripted-target.ts'

// Waiting for each action would take minutes.
export const HETZNER = scriptedTarget('hetzner', { options: { stepsOf: (_, count) => (count % 100 === 0 ? [50] : null) } })
