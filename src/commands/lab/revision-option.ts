import { Option } from 'commander';

/** Which revision of the service a lab has. */
export function revision(): Option {
  return new Option('--revision <n>', 'revision of the service: 61 or 62')
    .choices(['61', '62'])
    .default('62');
}
