import { Document, type ScalarTag, type Tags } from 'yaml';

/** What a plain scalar may hold without a terminal that acts on it. */
const PLAIN = /^[\x20-\x7e\n]*$/u;

const STRING = 'tag:yaml.org,2002:str';

/**
 * YAML 1.2 whose text is pure printable ASCII, as `printableJson` is: every other character stands escaped in
 * double quotes, and every YAML parser reads back the same values. Ends with a line break.
 */
export function printableYaml(value: unknown): string {
  const document = new Document(value, {
    aliasDuplicateObjects: false,
    compat: 'yaml-1.1',
    customTags: (tags) => tags.map(withPrintableStrings),
  });
  return document.toString({ lineWidth: 0 });
}

/**
 * Strings are escaped as they are written and not afterwards, because a key of more than 1,024 characters has
 * to be written in another way.
 */
function withPrintableStrings(tag: Tags[number]): Tags[number] {
  if (typeof tag !== 'object' || tag.tag !== STRING || !('stringify' in tag)) return tag;
  const { stringify } = tag as ScalarTag;
  return {
    ...tag,
    stringify: (item, ...rest) =>
      typeof item.value === 'string' && !PLAIN.test(item.value)
        ? quoted(item.value)
        : (stringify?.(item, ...rest) ?? ''),
  } as ScalarTag;
}

/** In double quotes, which YAML and JSON share but for characters beyond the first 65,536. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[^\x20-\x7e]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}
