import { invalidValue, type StatusCause } from './cluster-status.ts';

const SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_KEY =
  /^(?:(?=[^/]{1,253}\/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(?=.{1,63}$)([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(?=.{0,63}$)(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_KEY_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** What is wrong with the name of an object whose kind takes subdomains. */
export function nameCauses(name: string): StatusCause[] {
  if (name.length > 253) return [invalidValue('metadata.name', name, 'must be no more than 253 bytes')];
  return SUBDOMAIN.test(name) ? [] : [invalidValue('metadata.name', name, SUBDOMAIN_RULE)];
}

/** What is wrong with labels. */
export function labelCauses(labels: Readonly<Record<string, string>> = {}): StatusCause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...(LABEL_KEY.test(key) ? [] : [invalidValue('metadata.labels', key, LABEL_KEY_RULE)]),
    ...(LABEL_VALUE.test(value) ? [] : [invalidValue('metadata.labels', value, LABEL_VALUE_RULE)]),
  ]);
}
