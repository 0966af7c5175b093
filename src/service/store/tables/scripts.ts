import type { Generated, Selectable } from 'kysely'

export interface ScriptTables {
  readonly scripts: ScriptsTable
}

export interface ScriptsTable {
  id: Generated<number>
  account_id: number
  /** Who made it. */
  user_id: number
  label: string
  description: string
  /** JSON list of images; `any/all` stands for all. */
  images: string
  /** 1 for one that all accounts see; never 0 again then. */
  is_public: number
  rev_note: string
  script: string
  /** Instances that have ever been deployed with it. */
  deployments_total: Generated<number>
  created: string
  updated: string
}

export type ScriptRow = Selectable<ScriptsTable>
