/** PostgreSQL keeps no NUL in a text, and no half of a character. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** A folded row as it is stored here. */
export function rowStored(
  key: string,
  row: { readonly group: string; readonly sort: string; readonly value: unknown },
) {
  return { key, group: storable(row.group), sort: storable(row.sort), value: JSON.stringify(row.value) };
}
