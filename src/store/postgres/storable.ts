/** PostgreSQL text cannot hold NUL or a lone surrogate. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** A folded row as stored here. */
export function rowStored(
  key: string,
  row: { readonly group: string; readonly sort: string; readonly value: unknown },
) {
  return { key, group: storable(row.group), sort: storable(row.sort), value: JSON.stringify(row.value) };
}
