export { parseSplitZone } from '../definition/parse-definition.ts'
