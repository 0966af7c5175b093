import { scriptedTarget } from './scripted-target.ts'

export const AZURE = scriptedTarget('azure', {
  options: { pageSize: 100 },
  // Each record set is a request of its own.
  maxSize: 130,
  // The apex keeps the name servers of Azure.
  defects: { '26. NS only APEX': /cannot be removed from the NS record set/ },
})
