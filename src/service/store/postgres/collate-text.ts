import {
  type DataTypeNode,
  type KyselyPlugin,
  type OperationNode,
  OperationNodeTransformer,
  type QueryId,
  RawNode,
  type RootOperationNode,
} from 'kysely'

/**
 * Gives every text column that is made the collation "C", whatever the database's own is: text is compared and ordered by its
 * octets and case is folded in ASCII only, as SQLite does it, so that filters and orders mean the same on both.
 */
export const collateText: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId) as RootOperationNode,
  transformResult: async ({ result }) => result,
}

// The library's visitor of query trees is a class to be extended.
class TextCollator extends OperationNodeTransformer {
  protected override transformNodeImpl<T extends OperationNode>(node: T, queryId?: QueryId): T {
    if (node.kind === 'DataTypeNode' && (node as unknown as DataTypeNode).dataType === 'text') {
      return RawNode.createWithSql('text collate "C"') as OperationNode as T
    }
    return super.transformNodeImpl(node, queryId)
  }
}

const transformer = new TextCollator()
