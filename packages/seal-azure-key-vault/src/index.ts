export { azureKeyVaultSeal, createAzureKeyVaultSeal, type AzureKeyVaultOptions } from './plugin.ts';
