/** A scripted Cloud DNS with the zone example.com, and RRsets for it. */
import type { GoogleRrset } from '../../scripted/google/rrsets.ts'
import { type GoogleOptions, type GoogleZone, newRrsets } from '../../scripted/google/service.ts'
import { type SceneOptions, startCloudScene } from '../scripted-scene.ts'

export const PROJECT = 'test-project'
export const PUBLIC_ZONE: GoogleZone = { id: '699036609868956548', name: 'example-com', dnsName: 'example.com.', visibility: 'public' }

const rrset = (line: string): GoogleRrset => {
  const [, name = '', ttl, type = '', data = ''] = /^(\S+) (\d+) (\S+) (.*)$/.exec(line) ?? []
  const absolute = name === '@' ? 'example.com.' : `${name}.example.com.`
  return { kind: 'dns#resourceRecordSet', name: absolute, type, ttl: Number(ttl), rrdatas: data.split('|') }
}

export type GoogleScene = Awaited<ReturnType<typeof startGoogleScene>>

export async function startGoogleScene({
  rrsets = [],
  settings,
  ...options
}: SceneOptions &
  Partial<Omit<GoogleOptions, 'rrsets'>> & {
    /** RRsets at the start beside those of a new zone: `NAME TTL TYPE DATA`, several data separated by `|`. */
    readonly rrsets?: readonly (string | GoogleRrset)[]
    /** The settings beside type and base_url; a project and a token if absent. */
    readonly settings?: string
  }) {
  const own = rrsets.map((one) => (typeof one === 'string' ? rrset(one) : one))
  const scene = await startCloudScene('google', {
    provider: 'gcp',
    zones: [PUBLIC_ZONE],
    rrsets: new Map([[PUBLIC_ZONE.id, [...newRrsets(PUBLIC_ZONE), ...own]]]),
    ...(settings !== undefined && { signIn: settings }),
    ...options,
  })
  const { scripted } = scene
  const isApex = ({ name, type }: GoogleRrset): boolean => name === 'example.com.' && (type === 'SOA' || type === 'NS')
  return {
    ...scene,
    /** The RRsets beside SOA and NS of the apex, as `NAME TTL TYPE DATA`. */
    lines: (): string[] =>
      scripted
        .rrsets(PUBLIC_ZONE.id)
        .filter((one) => !isApex(one))
        .map(({ name, ttl, type, rrdatas }) => `${name.replace(/\.?example\.com\.$/, '') || '@'} ${ttl} ${type} ${rrdatas.join('|')}`),
    rrsets: (zone = PUBLIC_ZONE.id) => scripted.rrsets(zone),
    zones: () => scripted.zones(),
  }
}
