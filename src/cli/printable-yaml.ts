import { Document, type ScalarTag, type Tags } from 'yaml';

/** Characters of a plain scalar that no terminal acts on. */
const PLAIN = /^[\x20-\x7e\n]*$/u;

const STRING = 'tag:yaml.org,2002:str';

/**
 * YAML 1.2 in pure printable ASCII, like `printableJson`: every other character is escaped in double quotes,
 * and every YAML parser reads back the same values. Ends with a line break.
 */
export function printableYaml(value: unknown): string {
  const document = new Document(value, {
    aliasDuplicateObjects: false,
    compat: 'yaml-1.1',
    customTags: (tags) => tags.map(withPrintableStrings),
  });
  return document.toString({ lineWidth: 0 });
}

/** Escapes on writing: a key of more than 1,024 characters needs another form. */
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

/** In double quotes, which YAML and JSON share except for characters beyond the first 65,536. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[^\x20-\x7e]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}
