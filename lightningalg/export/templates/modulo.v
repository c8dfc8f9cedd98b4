(* ==== Minors, with the network computed modulo p ==== *)

Definition reduce (p : Z) (F : matrix) : matrix := map (map (fun x => (fst x mod p, snd x mod p))) F.
(* every value is reduced when it is computed *)
Definition run_modulo (p : Z) (t : nat) (net : list node) (output : nat) (theta : list dual) (X : matrix) : matrix :=
  nth output (collect (fun number values x => reduce p (node_value t theta number values x)) [X] net) [].

Lemma divide_mod : forall p a b, p <> 0 -> (p | a - b) -> (p | a mod p - b).
Proof.
  intros p a b Hp [z Hz]. exists (z - a / p). pose proof (Z.div_mod a p Hp). lia.
Qed.

Section Modulo.
Variables (p : Z) (n t : nat) (theta : list Z).
Hypothesis p_positive : 2 <= p.

Lemma reduce_congruent : forall F Fs, related_matrix t (congruent p) F Fs ->
  related_matrix t (congruent p) F (fun c => reduce p (Fs c)).
Proof.
  intros F Fs [L [R Rs] D].
  assert (RR : forall c, rectangular t (reduce p (Fs c))).
  { intros c. unfold rectangular, reduce. apply Forall_map. generalize (Rs c). apply Forall_impl.
    intros x Hx. rewrite map_length. exact Hx. }
  constructor.
  - intros c. unfold reduce. rewrite map_length. apply L.
  - split; assumption.
  - intros i k Hk. destruct (Nat.lt_ge_cases i (length F)) as [Hi|Hi].
    + destruct (D i k Hk) as [D1 D2].
      assert (C : cell (reduce p (Fs 0%nat)) i k = (fst (cell (Fs 0%nat) i k) mod p, snd (cell (Fs 0%nat) i k) mod p)).
      { unfold cell, reduce. rewrite nth_map_or with (e := []) by (rewrite L; assumption).
        rewrite nth_map_or with (e := dzero); [reflexivity|].
        assert (RL : length (nth i (Fs 0%nat) []) = t).
        { specialize (Rs 0%nat). unfold rectangular in Rs. rewrite Forall_forall in Rs. apply Rs, nth_In. rewrite L. assumption. }
        exact (eq_ind_r (fun l => (k < l)%nat) Hk RL). }
      split; cbv beta; rewrite C; cbn [fst snd]; apply divide_mod; (assumption || lia).
    + assert (E : forall G : matrix, (length G <= i)%nat -> cell G i k = dzero) by (intros; apply cell_outside; assumption).
      split; cbv beta; rewrite !E by (unfold reduce; rewrite ?map_length, ?L; assumption); apply divide_same.
Qed.

Lemma gradient_modulo : forall width net output Y X c, is_matrix width t X ->
  (p | gradient (run_modulo p t net output) n theta Y X c - gradient (run t net output) n theta Y X c).
Proof.
  intros width net output Y X c HX. unfold gradient.
  destruct (related_outputs t (congruent p) (along theta (unit_vector n c)) (fun _ => along theta (unit_vector n c)))
    with (finish := reduce p) (width := width) (net := net) (output := output) (Y := Y) (X := X) as [_ H];
    [| | | | |exact reduce_congruent|exact HX|exact H].
  - intros. split; apply divide_same.
  - intros x y xs ys [X1 X2] [Y1 Y2]. split; apply divide_sum; assumption.
  - intros x y xs ys [X1 X2] [Y1 Y2]. split; cbn [dmul fst snd]; [|apply divide_sum]; apply divide_product; assumption.
  - intros x y xs ys -> E [H1 H2]. split; rewrite E; assumption.
  - intros j. split; apply divide_same.
Qed.
End Modulo.

(* the minor of value number `output` of a network, computed modulo p: inputs of shape width x t, values of shape height x t *)
Theorem minor_checked_modulo : forall t net output n theta width height columns samples p inverse_columns,
  minor_check (run_modulo p t net output) n theta width height t columns samples p inverse_columns = true ->
  independent_gradients (run t net output) n width height t (length columns) theta
    (fun i => fst (row_of (output_entries height t samples) i)) (fun i => snd (row_of (output_entries height t samples) i)).
Proof.
  intros t net output n theta width height columns samples p N H.
  destruct (minor_check_parts _ _ _ _ _ _ _ _ _ _ H) as [LT [HX [Hk [M L]]]]. split; [exact LT|].
  split; [intros i Hi; apply output_entries_shape; [exact HX|lia]|]. intros c Hc.
  destruct (matrix_inverse _ _ _ _ M) as [Hp HN].
  set (rows := output_entries height t samples) in *. set (r := length columns) in *.
  assert (Inputs : forall i, (i < r)%nat -> is_matrix width t (snd (row_of rows i))).
  { intros i Hi. apply (output_entries_shape width height t samples HX). fold rows. lia. }
  set (G := fun f i k => gradient f n theta (fst (row_of rows i)) (snd (row_of rows i)) (nth k columns O)).
  apply (independent r p (G (run t net output)) (fun k j => entry N j k) Hp).
  - intros i j Hi Hj. specialize (HN i j Hi Hj).
    replace (sum r (fun k => G (run t net output) i k * entry N j k) - delta i j) with
      (sum r (fun k => (G (run t net output) i k - G (run_modulo p t net output) i k) * entry N j k) +
       (sum r (fun k => G (run_modulo p t net output) i k * entry N j k) - delta i j)).
    + apply Z.divide_add_r.
      * apply sum_divide. intros k _. apply Z.divide_mul_l.
        replace (G (run t net output) i k - G (run_modulo p t net output) i k) with
          (- (G (run_modulo p t net output) i k - G (run t net output) i k)) by ring.
        apply Z.divide_opp_r. apply (gradient_modulo p n t theta Hp width). apply Inputs. exact Hi.
      * replace (sum r (fun k => G (run_modulo p t net output) i k * entry N j k)) with
          (sum r (fun k => entry (gradients (run_modulo p t net output) n theta height t columns samples) i k * entry N j k));
          [exact HN|].
        apply sum_ext. intros k Hk'. f_equal. rewrite gradients_are_rows. fold rows. unfold entry at 1, G, row_of.
        rewrite (nth_of_map _ _ _ _ ([], [])) by lia. rewrite (nth_of_map _ _ _ _ O) by assumption. reflexivity.
    + rewrite Z.add_sub_assoc, <- sum_plus. f_equal. apply sum_ext. intros k _. ring.
  - intros k Hr. apply Hc. rewrite forallb_forall in Hk. apply Nat.ltb_lt, Hk, nth_In. exact Hr.
Qed.
