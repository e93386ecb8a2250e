import { auditHome, codesOf, type SealedJournal } from './sealed-journal.ts';

/** The limit of a single home. */
export const HOME_ONLY = 'note home.only';

/** As on a machine that knows the key. */
export const pinned = ({ signer }: SealedJournal) => ({ publicKey: signer.publicKey });

/** The findings with this machine's key, and without any. */
export const codes = async (sealed: SealedJournal) => ({
  withKey: codesOf(await auditHome(sealed, { storedKey: sealed.signer.publicKey })).filter(
    (code) => code !== HOME_ONLY,
  ),
  without: codesOf(await auditHome(sealed)),
});
/** The same with and without a key, except for the resulting limits. */
export const both = (...found: string[]) => {
  const limits = found.findIndex((code) => code.startsWith('limit'));
  return {
    withKey: found,
    without: found.toSpliced(limits === -1 ? found.length : limits, 0, 'limit key.none'),
  };
};
