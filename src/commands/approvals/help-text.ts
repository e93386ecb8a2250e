/** What `approve` prints after its flags. */
export const APPROVE_HELP = `
Two people:
  1 the run stops before the change and writes a request, a text file
  2 the second person reads it and signs it, on another machine:
      lifeboat approve REQUEST.txt --key ~/.ssh/id_ed25519
      or, without lifeboat: ssh-keygen -Y sign -n lifeboat-approval -f ~/.ssh/id_ed25519 REQUEST.txt
  3 the signature comes back: lifeboat approvals accept RUN REQUEST.txt.sig
  4 the name is typed, or: lifeboat resume RUN --confirm NAME
Who may approve is in the file that lifeboat.yaml names (approvals: allowedSigners), in the format of ssh-keygen(1).`;
