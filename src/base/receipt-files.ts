/* The files of a receipt, beside the one that it is about, and the commands that check them. */

/** The receipt itself: a Sigstore bundle. */
export const BUNDLE_FILE = 'receipt.sigstore.json';
/** What the signature covers, and the signature, for openssl. */
export const PAE_FILE = 'receipt.pae';
export const SIGNATURE_FILE = 'receipt.sig';
/** The public key; a verifier gets it over another channel as well. */
export const KEY_FILE = 'lifeboat-receipts.pub';

/** What the receipt of a run is about. */
export const REPORT_FILE = 'report.json';
export const TEST_RESULT = 'https://in-toto.io/attestation/test-result/v0.1';

/**
 * The two commands that verify with openssl, in the folder: the signature, and that the statement is about
 * `file`. If `file` cannot be read, the second searches for nothing and fails.
 */
export function opensslLines(file: string): readonly [string, string] {
  const subject = `s/ .*//; s/.*/"${file}","digest":{"sha256":"&"}/`;
  return [
    `openssl dgst -sha256 -verify ${KEY_FILE} -signature ${SIGNATURE_FILE} ${PAE_FILE}`,
    `openssl dgst -sha256 -r ${file} | sed '${subject}' | grep -F -f - ${PAE_FILE}`,
  ];
}

/** For cosign 3.0.4 or later; one command, in two lines. */
export function cosignLines(type: string, file: string): readonly [string, string] {
  return [
    `cosign verify-blob-attestation --key ${KEY_FILE} --bundle ${BUNDLE_FILE} \\`,
    `  --type ${type} --insecure-ignore-tlog ${file}`,
  ];
}
