/** Whether a failure of the key store is that its passphrase was not entered, or does not open it. */
export function wantsPassphrase(code: string): boolean {
  return code === 'keys.no-passphrase' || code === 'keys.wrong-passphrase';
}
