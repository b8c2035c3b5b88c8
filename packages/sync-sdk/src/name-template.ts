/** What a `secret_name_template` can name: the fields of its data. */
export const NAME_TEMPLATE_FIELDS = [
  'DestinationType',
  'DestinationName',
  'NamespacePath',
  'NamespaceBaseName',
  'NamespaceID',
  'MountPath',
  'MountBaseName',
  'MountAccessor',
  'SecretPath',
  'SecretBaseName',
  'SecretKey',
] as const;
