/** Whether a failure of the key store is that its passphrase was not entered, or does not open it. */
export function wantsPassphrase(code: string): boolean {
  return WANTING.has(code);
}

const WANTING: ReadonlySet<string> = new Set([
  'keys.no-passphrase',
  'keys.wrong-passphrase',
  // The field for it was left.
  'input.left',
]);
