import { isNode, type Node, nodesOf, type SourceFile } from './source-files.ts';

/** Names through which a machine would reach time, chance or the world. */
const WORLD: ReadonlySet<unknown> = new Set([
  ...['Date', 'performance', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'],
  ...['crypto', 'console', 'fetch', 'globalThis', 'process'],
]);

/**
 * Keys with which XState itself would wait: such a wait is lost when the process dies. The parts of machines
 * hold no machine, so that a key there is only a word.
 */
const WAITS: ReadonlySet<unknown> = new Set(['after', 'delay', 'delays']);

/** What of XState is pure: an actor does nothing until it is started, and of the actions only `assign`. */
const XSTATE: ReadonlySet<unknown> = new Set(['assign', 'createActor', 'fromPromise', 'setup']);

/** What makes a machine depend on anything but its events, each with its place. Empty for a pure one. */
export function impuritiesOf(file: SourceFile): string[] {
  const nodes = nodesOf(file.tree);
  const keys = new Set(nodes.map(keyOf));
  return nodes.flatMap((node): string[] => {
    const what = impurityOf(node, keys, !file.path.startsWith('machines/parts/'));
    return what === undefined ? [] : [`${file.path}:${file.lineOf(node)} ${what}`];
  });
}

function impurityOf(node: Node, keys: ReadonlySet<unknown>, hasMachines: boolean): string | undefined {
  if (node.type === 'Identifier' && WORLD.has(node['name']) && !keys.has(node)) return `uses ${node['name']}`;
  const key = keyOf(node);
  if (node.type === 'MemberExpression') {
    const { object } = node;
    return isNode(object) && object['name'] === 'Math' && nameOf(key) === 'random'
      ? 'uses Math.random'
      : undefined;
  }
  if (node.type === 'Property' && hasMachines && WAITS.has(nameOf(key))) return `waits with ${nameOf(key)}`;
  if (node.type === 'ImportDeclaration' && isXState(node)) {
    const names = nodesOf(node)
      .filter((part) => part.type.startsWith('Import') && part.type.endsWith('Specifier'))
      .filter((part) => part['importKind'] !== 'type')
      .map((part) => (isNode(part['imported']) ? part['imported']['name'] : 'all of it'));
    const others = names.filter((name) => !XSTATE.has(name));
    return others.length === 0 ? undefined : `takes ${others.join(', ')} from xstate`;
  }
  return undefined;
}

function isXState(node: Node): boolean {
  return node['importKind'] !== 'type' && isNode(node['source']) && node['source']['value'] === 'xstate';
}

/** The part of a node that only names a field of something else. */
function keyOf(node: Node): Node | undefined {
  const key = node.type === 'MemberExpression' ? node['property'] : node['key'];
  return isNode(key) && (node['computed'] !== true || key.type === 'Literal') ? key : undefined;
}

function nameOf(key: Node | undefined): unknown {
  return key?.['name'] ?? key?.['value'];
}
