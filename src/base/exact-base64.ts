/** The bytes of a text in base64; undefined for any spelling but the one that its bytes have. */
export function exactBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
