export { kubernetesAuth, kubernetesAuthWith, type KubernetesAuthOptions } from './kubernetes-auth.ts';
export { POD_FOLDER } from '@strongroom/kubernetes-client';
