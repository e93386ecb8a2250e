/* The names of the files in the folder of a receipt, beside the one that it is about. */

/** The receipt itself: a Sigstore bundle. */
export const BUNDLE_FILE = 'receipt.sigstore.json';
/** What the signature covers, and the signature, for openssl. */
export const PAE_FILE = 'receipt.pae';
export const SIGNATURE_FILE = 'receipt.sig';
/** The public key; whoever verifies gets it over another channel as well. */
export const KEY_FILE = 'lifeboat-receipts.pub';
