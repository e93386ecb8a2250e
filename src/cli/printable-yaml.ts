import { Document, isScalar, visit } from 'yaml';

/** What a plain scalar may hold without a terminal that acts on it. */
const PLAIN = /^[\x20-\x7e\n]*$/u;

/**
 * YAML 1.2 whose text is pure printable ASCII, as `printableJson` is: every other character stands escaped in
 * double quotes, and every YAML parser reads back the same values. Ends with a line break.
 */
export function printableYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && !PLAIN.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
    Pair: (_, { key }) => {
      if (isScalar(key) && typeof key.value === 'string' && !PLAIN.test(key.value)) key.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0 }).replace(/[^\0-\x7e]/gu, escaped);
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}
