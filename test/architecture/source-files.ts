import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, normalize, relative, sep } from 'node:path';
import { parseAst } from 'vitest/node';
import { allowancesOf, ROOMS, type Room } from './rooms.ts';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Import {
  /** `src/base/errors.ts`, `node:fs/promises`, `zod`; `computed` when it is not written as a text. */
  readonly target: string;
  /** Erased when the program is built. `import { type A }` is not: the module is still loaded. */
  readonly typeOnly: boolean;
  /** `import()`: loaded when it is called, and not with the file. */
  readonly late: boolean;
  readonly line: number;
}

export interface SourceFile {
  /** From the root of the project, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly tree: Node;
  readonly imports: readonly Import[];
  lineOf(node: Node): number;
}

export interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

/** The product: every TypeScript file below `machines/` and `src/`, parsed. */
export function readSourceFiles(): SourceFile[] {
  return ['machines', 'src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map((entry) => readSourceFile(relative(ROOT, join(entry.parentPath, entry.name)))),
  );
}

function readSourceFile(file: string): SourceFile {
  return parseSource(file.split(sep).join('/'), readFileSync(join(ROOT, file), 'utf8'));
}

/**
 * Parses one file of the given name. Every way to name another module is an import: static, dynamic, type,
 * require.
 */
export function parseSource(path: string, text: string): SourceFile {
  const tree = parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node;
  const lineOf = (node: Node) => text.slice(0, node.start).split('\n').length;
  const imports = nodesOf(tree).flatMap((node): Import[] => {
    const found = importOf(node);
    return found === undefined
      ? []
      : [
          {
            ...found,
            target: targetOf(path, found.target),
            late: node.type === 'ImportExpression',
            line: lineOf(node),
          },
        ];
  });
  return { path, text, tree, imports, lineOf };
}

/** Every node of a syntax tree, from the top down. */
export function nodesOf(tree: Node): Node[] {
  const nodes: Node[] = [];
  // One list for all: a list for each node would be copied once for each node above it.
  const visit = (node: Node) => {
    nodes.push(node);
    for (const value of Object.values(node)) {
      if (Array.isArray(value)) value.filter(isNode).forEach(visit);
      else if (isNode(value)) visit(value);
    }
  };
  visit(tree);
  return nodes;
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

const rooms = new Map<string, Room | undefined>();

/** The row of the table that a file belongs to: the last that matches. */
export function roomOf(path: string): Room | undefined {
  if (!rooms.has(path))
    rooms.set(
      path,
      ROOMS.findLast((room) => matchesGlob(path, room.files)),
    );
  return rooms.get(path);
}

/** Whether the table lets a file of that room import the target. A room may import itself. */
export function mayImport(room: Room, target: string, typeOnly: boolean): boolean {
  return roomOf(target) === room || allowancesOf(room).some((allowed) => covers(allowed, target, typeOnly));
}

/** Whether one entry of a row allows the target. */
export function covers(allowed: string, target: string, typeOnly: boolean): boolean {
  const [, onlyTypes, what = ''] = /^(type )?(.*)$/.exec(allowed) ?? [];
  if (onlyTypes !== undefined && !typeOnly) return false;
  return what === '*' || target === what || target.startsWith(`${what}/`);
}

function importOf(node: Node): Omit<Import, 'line' | 'late'> | undefined {
  const typeOnly = node['importKind'] === 'type' || node['exportKind'] === 'type';
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      return isNode(node['source']) ? { target: textOf(node['source']), typeOnly } : undefined;
    case 'ImportExpression':
      return { target: textOf(node['source']), typeOnly: false };
    case 'TSImportType':
      return { target: textOf(node['source']), typeOnly: true };
    case 'TSExternalModuleReference':
      return { target: textOf(node['expression']), typeOnly: false };
    case 'CallExpression': {
      const { callee, arguments: given } = node;
      if (!isNode(callee) || callee['name'] !== 'require' || !Array.isArray(given)) return undefined;
      return { target: textOf(given[0]), typeOnly: false };
    }
    default:
      return undefined;
  }
}

function textOf(node: unknown): string {
  return isNode(node) && typeof node['value'] === 'string' ? node['value'] : 'computed';
}

function targetOf(from: string, specifier: string): string {
  return specifier.startsWith('.')
    ? normalize(join(dirname(from), specifier))
        .split(sep)
        .join('/')
    : specifier;
}
