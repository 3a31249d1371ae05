/** What a role may be narrowed to. */

export type Role = "Viewer" | "Ops" | "Admin";

const ORDER: readonly Role[] = ["Viewer", "Ops", "Admin"];

/** The permissions that a token of a role can have. None manages users. */
export const PERMISSIONS: Record<Role, readonly string[]> = {
  Viewer: ["read"],
  Ops: ["read", "write", "operate"],
  Admin: ["read", "write", "operate", "administer"],
};

/** The roles that are at most this one. */
export const rolesUpTo = (role: string): Role[] => ORDER.slice(0, ORDER.indexOf(role as Role) + 1);
