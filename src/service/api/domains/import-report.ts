/** What became of records that an import could not take over as they are: for a reader, complete in its counts and short in its text. */

export interface ImportReport {
  /** Adds a record, or a setting, to those of which one thing is to be told. */
  note(remark: string, subject: string): void
  /** One line for each remark; none where all was taken over as it is. */
  lines(): string[]
}

/** Subjects that are named for each remark; the others are counted. */
const NAMED = 50

export function createImportReport(): ImportReport {
  const remarks = new Map<string, { count: number; readonly named: string[] }>()
  return {
    note: (remark, subject) => {
      const entry = remarks.get(remark) ?? { count: 0, named: [] }
      remarks.set(remark, entry)
      entry.count += 1
      if (entry.named.length < NAMED) entry.named.push(subject)
    },
    lines: () =>
      [...remarks].map(([remark, { count, named }]) => {
        const others = count - named.length
        return `${remark}: ${named.join(', ')}${others === 0 ? '' : ` and ${others} more`}`
      }),
  }
}
