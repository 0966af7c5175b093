/** The operations on tags and on the objects that have them. */
import TAG from '../../../../schemas/service/tag.json' with { type: 'json' }
import TAG_CREATE from '../../../../schemas/service/tag-create.json' with { type: 'json' }
import TAGGED_OBJECT from '../../../../schemas/service/tagged-object.json' with { type: 'json' }
import type { Connection } from '../../store/database.ts'
import { findDomains } from '../../store/domain-store.ts'
import { findInstances } from '../../store/instance-store.ts'
import type { TaggedKind } from '../../store/tables.ts'
import {
  deleteTag,
  findKindOverTagLimit,
  listTaggedEntities,
  listTags,
  MAX_TAGS,
  TAGGED_KINDS,
  type TaggedEntity,
  tagObjects,
} from '../../store/tag-store.ts'
import { findLoadBalancers, findVolumes } from '../../store/volume-store.ts'
import { ALIAS_TAG_FIELDS, ALIAS_VOLUME_FIELDS, withAliases } from '../alias-names.ts'
import { withinTagQuota } from '../check-quota.ts'
import { badRequest } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'

type Field = 'instances' | 'domains' | 'volumes' | 'loadbalancers' | keyof typeof ALIAS_TAG_FIELDS

interface Kind {
  /** The field of a request that lists its objects, and the `type` in a list of tagged objects. */
  readonly field: Field
  readonly type: string
  readonly words: string
  /** Reads objects in the form of their own operations. */
  readonly load: (connection: Connection, ids: readonly number[]) => Promise<readonly { readonly id: number }[]>
}

const KINDS: Readonly<Record<TaggedKind, Kind>> = {
  instance: { field: 'instances', type: 'linode', words: 'An instance', load: findInstances },
  domain: {
    ...{ field: 'domains', type: 'domain', words: 'A domain' },
    load: async (connection, ids) => (await findDomains(connection, ids)).map(({ recordCount: _, ...domain }) => domain),
  },
  volume: {
    ...{ field: 'volumes', type: 'volume', words: 'A volume' },
    load: async (connection, ids) => (await findVolumes(connection, ids)).map((volume) => withAliases(volume, ALIAS_VOLUME_FIELDS)),
  },
  loadbalancer: { field: 'loadbalancers', type: 'nodebalancer', words: 'A load balancer', load: findLoadBalancers },
}

/** The kind of the objects that a field lists. */
function kindOf(field: string): TaggedKind {
  const name = (ALIAS_TAG_FIELDS as Readonly<Record<string, string>>)[field] ?? field
  return TAGGED_KINDS.find((kind) => KINDS[kind].field === name) as TaggedKind
}

type TagBody = { readonly label: string } & Readonly<Partial<Record<Field, readonly number[] | null>>>

const TAGS = resource({ path: '/tags', parameter: 'label', texts: ['label'], family: 'account', schema: TAG })

const TAGGED_OBJECTS = resource({ path: '/tags/{label}', texts: ['label'], family: 'account', schema: TAGGED_OBJECT })

/** The Tags section of the API. */
export const TAG_ROUTES: readonly Route[] = [
  TAGS.list('List tags', (connection, { actor, query }) => listTags(connection, actor, query)),
  TAGS.create<TagBody>(
    'Create a tag, or use the existing one, and add it to the listed objects. If one cannot be tagged, none is',
    TAG_CREATE,
    async ({ actor, body: { label, ...fields } }, { database, quotas, now }) => {
      const objects = new Map<TaggedKind, readonly number[]>()
      for (const [field, ids] of Object.entries(fields)) {
        const kind = kindOf(field)
        if (ids !== null) objects.set(kind, [...(objects.get(kind) ?? []), ...ids])
      }
      return database.write(async (connection) => {
        const tagged = await withinTagQuota(connection, actor, quotas, [label], () =>
          tagObjects(connection, actor.accountId, label, objects, now()),
        )
        if ('missing' in tagged) throw badRequest(...fieldsOf(fields, tagged.missing).map(noSuchObject))
        const overtagged = await findKindOverTagLimit(connection, objects, MAX_TAGS)
        if (overtagged !== null) throw badRequest(...fieldsOf(fields, [overtagged]).map((field) => tooManyTags(field, overtagged)))
        return tagged
      })
    },
    { unrestricted: true },
  ),
  TAGGED_OBJECTS.list('List the objects with a tag', async (connection, { actor, texts, query }) => {
    const tagged = await listTaggedEntities(connection, actor, texts.label, query)
    return tagged && { ...tagged, items: await dataOf(connection, tagged.items) }
  }),
  TAGS.remove(
    'Delete a tag and remove it from all objects',
    (connection, { actor, texts }, { now }) => deleteTag(connection, actor.accountId, texts.label, now()),
    { unrestricted: true },
  ),
]

/** The fields of a request that list objects of these kinds. */
const fieldsOf = (fields: object, kinds: readonly TaggedKind[]): string[] =>
  Object.entries(fields).flatMap(([field, ids]) => (ids?.length > 0 && kinds.includes(kindOf(field)) ? [field] : []))

const noSuchObject = (field: string) => ({ field, reason: `${field} is not valid` })

const tooManyTags = (field: string, kind: TaggedKind) => ({ field, reason: `${KINDS[kind].words} can have at most ${MAX_TAGS} tags.` })

/** Reads tagged objects with all their fields, in the given order. */
async function dataOf(connection: Connection, entities: readonly TaggedEntity[]): Promise<readonly object[]> {
  const data = new Map<string, object>()
  for (const [kind, { load }] of Object.entries(KINDS)) {
    const ids = entities.filter((entity) => entity.kind === kind).map(({ id }) => id)
    for (const object of await load(connection, ids)) data.set(`${kind} ${object.id}`, object)
  }
  return entities.map(({ kind, id }) => ({ type: KINDS[kind].type, data: data.get(`${kind} ${id}`) }))
}
