/** Milliseconds of the service's clock that its objects spend in states that end by themselves. */
export const DURATIONS = {
  provisionImage: 10_000,
  provisionBackup: 15_000,
  boot: 5_000,
  reboot: 8_000,
  clone: 20_000,
  restore: 15_000,
  /** A backup: `pending`, `running`, `needsPostProcessing`. */
  backupPending: 3_000,
  backupRunning: 20_000,
  backupPostProcessing: 5_000,
  /** While a day and a window for backups are chosen. */
  scheduling: 30_000,
  /** Until an automatic backup is tried again of an instance that is being written to. */
  backupPutOff: 15 * 60_000,
} satisfies Readonly<Record<string, number>>
