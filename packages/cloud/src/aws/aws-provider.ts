import type { CloudProvider } from '../cloud-provider.ts';
import { AwsSession } from './aws-session.ts';
import { regionWarnings } from './regions.ts';

/** The template that clients of Vault and OpenBao see when none is configured. */
const USERNAME_TEMPLATE =
  '{{ if (eq .Type "STS") }}{{ printf "vault-%s-%s"  (unix_time) (random 20) | truncate 32 }}{{ else }}' +
  '{{ printf "vault-%s-%s-%s" (printf "%s-%s" (.DisplayName) (.PolicyName) | truncate 42) (unix_time) (random 20) | truncate 64 }}{{ end }}';

/** Amazon Web Services: IAM users, assumed roles, federation tokens. */
export const awsProvider: CloudProvider = {
  name: 'aws',
  title: 'AWS',
  version: '0.1.0',
  usernameTemplate: USERNAME_TEMPLATE,
  longestName: { IAM: 64, STS: 32 },
  keysPerUser: 2,
  // IAM takes names that differ in case alone for one.
  canonicalUser: (name) => name.toLowerCase(),
  settingsWarnings: ({ region }) => regionWarnings(region),
  open: (settings) => new AwsSession(settings),
};
