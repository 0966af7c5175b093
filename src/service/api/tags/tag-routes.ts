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
  type TaggedEntity,
  tagObjects,
} from '../../store/tag-store.ts'
import { findLoadBalancers, findVolumes } from '../../store/volume-store.ts'
import { ALIAS_TAG_FIELDS, ALIAS_VOLUME_FIELDS, withAliases } from '../alias-names.ts'
import { withinTagQuota } from '../check-quota.ts'
import { badRequest } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'

const KINDS = { instances: 'instance', domains: 'domain', volumes: 'volume', loadbalancers: 'loadbalancer' } as const

type Field = keyof typeof KINDS | keyof typeof ALIAS_TAG_FIELDS

/** The kind of the objects that a field lists. */
const kindOf = (field: string): TaggedKind =>
  KINDS[(Object.hasOwn(ALIAS_TAG_FIELDS, field) ? ALIAS_TAG_FIELDS[field as keyof typeof ALIAS_TAG_FIELDS] : field) as keyof typeof KINDS]

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

const WORDS: Readonly<Record<TaggedKind, string>> = {
  instance: 'An instance',
  domain: 'A domain',
  volume: 'A volume',
  loadbalancer: 'A load balancer',
}

const tooManyTags = (field: string, kind: TaggedKind) => ({ field, reason: `${WORDS[kind]} can have at most ${MAX_TAGS} tags.` })

/** The `type` of each kind in a list of tagged objects. */
const TYPES: Readonly<Record<TaggedKind, string>> = {
  instance: 'linode',
  domain: 'domain',
  volume: 'volume',
  loadbalancer: 'nodebalancer',
}

/** An object in a list of tagged objects. */
interface TaggedObject {
  readonly type: string
  readonly data: object
}

type Load = (connection: Connection, ids: readonly number[]) => Promise<readonly { readonly id: number }[]>

/** Reads the objects of a kind in the form of their own operations. */
const LOADS: Readonly<Record<TaggedKind, Load>> = {
  instance: findInstances,
  domain: async (connection, ids) => (await findDomains(connection, ids)).map(({ recordCount: _, ...domain }) => domain),
  volume: async (connection, ids) => (await findVolumes(connection, ids)).map((volume) => withAliases(volume, ALIAS_VOLUME_FIELDS)),
  loadbalancer: findLoadBalancers,
}

/** Reads tagged objects with all their fields, in the given order. */
async function dataOf(connection: Connection, entities: readonly TaggedEntity[]): Promise<readonly TaggedObject[]> {
  const data = new Map<string, object>()
  for (const [kind, load] of Object.entries(LOADS)) {
    const ids = entities.filter((entity) => entity.kind === kind).map(({ id }) => id)
    for (const object of await load(connection, ids)) data.set(`${kind} ${object.id}`, object)
  }
  return entities.map(({ kind, id }) => ({ type: TYPES[kind], data: data.get(`${kind} ${id}`) as object }))
}
