(* Matrices are lists of rows; their entries are dual numbers a + b eps with integers a, b and eps^2 = 0. *)
Definition dual := (Z * Z)%type.
Definition dzero : dual := (0, 0).
Definition dadd (x y : dual) : dual := (fst x + fst y, snd x + snd y).
Definition dmul (x y : dual) : dual := (fst x * fst y, fst x * snd y + snd x * fst y).
Definition matrix := list (list dual).

Fixpoint dot (x y : list dual) : dual :=
  match x, y with
  | a :: x', b :: y' => dadd (dmul a b) (dot x' y')
  | _, _ => dzero
  end.
Definition column (A : matrix) (j : nat) : list dual := map (fun row => nth j row dzero) A.
Definition transpose (columns : nat) (A : matrix) : matrix := map (column A) (seq 0 columns).
Definition product (columns : nat) (A B : matrix) : matrix :=
  let T := transpose columns B in map (fun row => map (dot row) T) A.
Fixpoint add_rows (x y : list dual) : list dual :=
  match x, y with
  | a :: x', b :: y' => dadd a b :: add_rows x' y'
  | _, _ => []
  end.
Fixpoint add_matrices (A B : matrix) : matrix :=
  match A, B with
  | x :: A', y :: B' => add_rows x y :: add_matrices A' B'
  | _, _ => []
  end.
Fixpoint power (x : dual) (n : nat) : dual :=
  match n with O => (1, 0) | S m => dmul x (power x m) end.

(* V X X^T K^T Q X, for t columns *)
Definition attention (t : nat) (Q K V X : matrix) : matrix :=
  let scores := product t (transpose t (product t K X)) (product t Q X) in
  product t V (product t X scores).
Definition linear (t : nat) (W X : matrix) : matrix := product t W X.
Definition activation (degree : nat) (X : matrix) : matrix := map (map (fun x => power x degree)) X.
Definition add_bias (b X : matrix) : matrix :=
  map (fun p => map (dadd (nth 0 (fst p) dzero)) (snd p)) (combine b X).

Fixpoint rows_of (count columns : nat) (values : list dual) : matrix :=
  match count with
  | O => []
  | S m => firstn columns values :: rows_of m columns (skipn columns values)
  end.
(* the matrix whose entries stand at first, first + 1, ... among the parameters, row by row *)
Definition parameter_matrix (first rows columns : nat) (theta : list dual) : matrix :=
  rows_of rows columns (skipn first theta).

Definition constant (A : list (list Z)) : matrix := map (map (fun x => (x, 0))) A.
(* sum of Y[i,k] f[i,k] *)
Definition pairing (Y : list (list Z)) (F : matrix) : dual := dot (concat (constant Y)) (concat F).

(* theta + eps direction *)
Definition along (theta direction : list Z) : list dual := combine theta direction.
Definition unit_vector (n c : nat) : list Z := map (fun k => if Nat.eqb k c then 1 else 0) (seq 0 n).
(* derivative by parameter number c of n, at theta, of the functional <Y, f(X)> *)
Definition gradient (f : list dual -> matrix -> matrix) (n : nat) (theta : list Z) (Y X : list (list Z)) (c : nat) : Z :=
  snd (pairing Y (f (along theta (unit_vector n c)) (constant X))).
