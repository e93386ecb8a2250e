import { auditHome, codesOf, type SealedJournal } from './sealed-journal.ts';

/** What one home alone cannot show. */
export const HOME_ONLY = 'note home.only';

/** As on a machine that knows the key. */
export const pinned = ({ signer }: SealedJournal) => ({ publicKey: signer.publicKey });

/** What is found with the key of this machine, and without any. */
export const codes = async (sealed: SealedJournal) => ({
  withKey: codesOf(await auditHome(sealed, { storedKey: sealed.signer.publicKey })).filter(
    (code) => code !== HOME_ONLY,
  ),
  without: codesOf(await auditHome(sealed)),
});
/** The same with a key and without one, but for what that leaves open. */
export const both = (...found: string[]) => {
  const limits = found.findIndex((code) => code.startsWith('limit'));
  return {
    withKey: found,
    without: found.toSpliced(limits === -1 ? found.length : limits, 0, 'limit key.none'),
  };
};
