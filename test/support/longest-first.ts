/** The order of the test files: those that take long begin first, so that at the end no worker waits for another. */
import { statSync } from 'node:fs'
import type { TestSequencer, TestSequencerConstructor, TestSpecification } from 'vitest/node'

/** From the longest on; what stands after them takes less than ten seconds. */
const LONG = [
  'faults/killed',
  'cli/killed-writes',
  'plan/interleavings',
  'plan/least-calls',
  'faults/bad-network',
  'faults/ended-early',
  'service/record-limit',
  'service/secondaries',
  'service/images/upload-restart',
  'cli/hostile-data',
  'cli/import-any-zones',
  'cli/terminal',
  'cli/killed',
  'service/store/postgres/server-hangs',
  'scenarios/scenarios',
  'cli/processes',
  'cli/bad-servers',
  'service/backup',
  'cli/bad-files',
  'service/store/postgres/several-processes',
  'cli/history-processes',
  'conformance/planned-calls',
  'plan/any-zones',
  'service/openapi',
  'cli/doctor',
  'service/profile/apps-devices-logins',
  'service/any-body',
  'service/record-model',
  'interop/import-via-service',
  'service/nameserver/notifier',
  'service/store/postgres/open-postgres',
  'cli/formats',
  'service/images/uploads',
  'interop/octodns-corpus',
  'cli/rollback',
  'formats/zone-file/fuzz',
  'cli/inventory',
  'service/transfers/behind',
]

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
  return place < 0 ? LONG.length : place
}

/** A worker is of one project: the files of one follow each other, so that few have to start. Other files stand by their size. */
function sort(files: readonly TestSpecification[]): TestSpecification[] {
  const projects = [...new Set(files.map(({ project }) => project.name))].sort()
  return files
    .map((file) => ({ file, project: projects.indexOf(file.project.name), place: placeOf(file), size: statSync(file.moduleId).size }))
    .sort((a, b) => a.project - b.project || a.place - b.place || b.size - a.size)
    .map(({ file }) => file)
}

function sequencer(): TestSequencer {
  return { sort, shard: (files) => files }
}

/** For the option `sequence.sequencer`, which calls it with `new`. */
export const longestFirst = sequencer as unknown as TestSequencerConstructor
