export { freshSigner } from '../store/fresh-signer.ts';
