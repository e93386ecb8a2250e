import { isNode, type Node, nodesOf, type SourceFile } from './source-files.ts';

/** Where `Date` may read what is no number, with the reason. A folder ends in `/`. */
export const READERS: ReadonlyMap<string, string> = new Map([
  ['src/base/date.ts', 'it takes numbers, and dates of HTTP, which are in GMT'],
  ['src/approvals/allowed-signers.ts', 'ssh-keygen reads the times of a list of signers as local ones'],
  ['src/lab/', 'it shares no code with its client, and has a reader of its own, for which no zone is UTC'],
]);

/** What of `Date` reads no text. */
const HARMLESS: ReadonlySet<unknown> = new Set(['now', 'UTC']);

/**
 * Every use of `Date` that may make a moment of a text, with its place: a text without a zone would be read
 * as local time. Empty for a file that leaves this to `src/base/instant.ts`.
 */
export function timesReadIn(file: SourceFile): string[] {
  const nodes = nodesOf(file.tree);
  const harmless = new Set(nodes.flatMap(harmlessIn));
  return nodes
    .filter((node) => node.type === 'Identifier' && node['name'] === 'Date' && !harmless.has(node))
    .map((node) => `${file.path}:${file.lineOf(node)} reads a time with Date`);
}

/** Whether a file is on the list. */
export function mayReadTimes(path: string): boolean {
  return [...READERS.keys()].some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place));
}

/** The parts of a node that name `Date` without having it read anything. */
function harmlessIn(node: Node): readonly unknown[] {
  const { callee, arguments: given, object, property, computed, key } = node;
  switch (node.type) {
    case 'NewExpression':
      return Array.isArray(given) && given.length === 0 ? [callee] : [];
    case 'MemberExpression': {
      const name = isNode(property) && computed !== true ? property['name'] : undefined;
      return HARMLESS.has(name) ? [object] : [];
    }
    case 'BinaryExpression':
      return node['operator'] === 'instanceof' ? [node['right']] : [];
    case 'TSTypeReference':
      return [node['typeName']];
    case 'Property':
      return computed === true || node['shorthand'] === true ? [] : [key];
    default:
      return [];
  }
}
