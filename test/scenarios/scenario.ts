/**
 * A scenario is a folder: `existing.zone` is the zone at the provider before the first step (empty: a zone without records; absent: no
 * zone). Each step is one definition (`1-create.yaml`, `2-change.yaml`, …) with its expected files: `1.plan.txt`, the report, and
 * `1.calls.json`, the calls. A folder may have its own `zonewright.yaml`; otherwise it uses the one above it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Scenario {
  readonly name: string
  /** Absolute. */
  readonly folder: string
  /** Zone-file text; null if the zone does not exist before the first step. */
  readonly existing: string | null
  readonly steps: readonly Step[]
  /** The absolute path of its config. */
  readonly config: string
}

export interface Step {
  readonly number: number
  /** The name of the definition's file. */
  readonly file: string
}

const ROOT = fileURLToPath(new URL('./', import.meta.url))
const CONFIG = 'zonewright.yaml'
const EXISTING = 'existing.zone'
/** Files that definitions include. */
const FRAGMENTS = 'fragments'

/** All scenarios, sorted by name. Throws if a folder has an unknown file. */
export function readScenarios(): Scenario[] {
  return readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== FRAGMENTS)
    .map((entry) => readScenario(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function readScenario(name: string): Scenario {
  const folder = join(ROOT, name)
  const files = readdirSync(folder)
  if (!/^[0-9]{3}-[a-z0-9-]+$/.test(name)) throw new Error(`${name}: a scenario is called NNN-name`)
  const steps = files
    .flatMap((file) => {
      const number = /^([0-9]+)-[a-z0-9-]+\.(?:yaml|zone)$/.exec(file)?.[1]
      return number === undefined ? [] : [{ number: Number(number), file }]
    })
    .sort((a, b) => a.number - b.number)
  if (steps.length === 0 || steps.some((step, index) => step.number !== index + 1)) throw new Error(`${name}: steps are numbered from 1`)
  const known = new Set([EXISTING, CONFIG, ...steps.flatMap(({ number, file }) => [file, planFile(number), callsFile(number)])])
  const stray = files.filter((file) => !known.has(file))
  if (stray.length > 0) throw new Error(`${name}: ${stray.join(', ')} belongs to no step`)
  const existing = join(folder, EXISTING)
  const config = files.includes(CONFIG) ? join(folder, CONFIG) : join(ROOT, CONFIG)
  return { name, folder, existing: existsSync(existing) ? readFileSync(existing, 'utf8') : null, steps, config }
}

export const planFile = (number: number): string => `${number}.plan.txt`
export const callsFile = (number: number): string => `${number}.calls.json`
