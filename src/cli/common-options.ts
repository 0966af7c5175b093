/** Options every command has. */
export interface CommonOptions {
  readonly config?: string
  readonly color?: boolean
  readonly quiet?: boolean
  readonly verbose?: boolean
}
