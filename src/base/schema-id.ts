/**
 * The `$id` of a schema: absolute, because validators resolve each `$ref` against it (JSON Schema 2020-12,
 * section 8.2.1); on a reserved host (RFC 2606), so that it is never requested.
 */
export function schemaId(name: string): string {
  return `https://lifeboat.invalid/schemas/${name}/1`;
}
